# SPDX-License-Identifier: Apache-2.0
# Completion of weft in bash. What there is to complete comes from the program itself, so that it
# is always that of the installed one.

_weft_commands() {
    "$1" help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

_weft_options() {
    "$1" "$2" --help 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

_weft_topics() {
    "$1" help 2>/dev/null | grep -oE '^  [a-z]+\.[a-z0-9_-]+' | tr -d ' '
}

# Sources of a program; ":" separates words in bash, which sees what is behind it alone.
_weft_generators() {
    _weft_topics "$1" | sed -n 's/^gen\./gen:/p'
}

# "net.bandwidth=" of each parameter. Values that are names follow after ":".
_weft_parameters() {
    "$1" help gen net node mpi cpu replay run traffic engine 2>/dev/null |
        sed -n 's/^ *-p \([a-z]*\.[A-Za-z0-9_]*\)=\(.*\)/\1 \2/p' |
        while read -r name values _; do
            [[ $values == \<* ]] && values=""
            echo "$name ${values//|/ }"
        done
}

_weft_values() {
    _weft_parameters "$1" | sed -n "s/^$2 //p" | tr ' ' '\n'
}

_weft_machines() {
    "$1" machine list 2>/dev/null | grep -oE '^[a-z][a-z0-9-]*'
}

_weft() {
    local weft=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]:-}
    local before=${COMP_WORDS[COMP_CWORD - 1]} words=""

    COMPREPLY=()
    if [[ $command == --plugin ]]; then # with what plug-ins add; "=" is a word of its own
        local n=$([[ ${COMP_WORDS[2]:-} == = ]] && echo 3 || echo 2)
        ((COMP_CWORD > n)) || { COMPREPLY=($(compgen -f -- "${current#=}")); return; }
        local -x WEFT_PLUGINS=${COMP_WORDS[n]}${WEFT_PLUGINS:+:$WEFT_PLUGINS}
        COMP_WORDS=("$weft" "${COMP_WORDS[@]:n+1}")
        ((COMP_CWORD -= n))
        _weft
        return
    fi
    if ((COMP_CWORD == 1)); then
        words="$(_weft_commands "$weft") --help --version --plugin"
    elif [[ $before == -p || $before == --param ]]; then
        words=$(_weft_parameters "$weft" | sed 's/ .*/=/')
    elif [[ $before == = && ${COMP_WORDS[COMP_CWORD - 3]} == -p ]]; then
        words=$(_weft_values "$weft" "${COMP_WORDS[COMP_CWORD - 2]}")
    elif [[ $current == = && ${COMP_WORDS[COMP_CWORD - 2]} == -p ]]; then
        words=$(_weft_values "$weft" "$before")
        current=""
    elif [[ $before == --machine || ($command == machine && $before =~ ^(show|check)$) ]]; then
        words=$(_weft_machines "$weft")
    elif [[ $before == --topo || ($command == topo && $COMP_CWORD == 2) ]]; then
        words=$(_weft_topics "$weft" | sed -n 's/^topo\.\(.*\)/\1:/p')
    elif [[ $before == --net ]]; then
        words=$(_weft_topics "$weft" | sed -n 's/^net\.//p')
    elif [[ $before == : && ${COMP_WORDS[COMP_CWORD - 2]} == gen ]]; then
        words=$(_weft_generators "$weft" | sed 's/^gen://')
    elif [[ $current == : && $before == gen ]]; then
        words=$(_weft_generators "$weft" | sed 's/^gen://')
        current=""
    elif [[ $current == -* ]]; then
        words=$(_weft_options "$weft" "$command")
    elif [[ $command == help ]]; then
        words="$(_weft_commands "$weft") $(_weft_topics "$weft")"
    elif [[ $command == replay || $command == gen ]] && ((COMP_CWORD == 2)); then
        words=$(_weft_generators "$weft")
    fi
    # shellcheck disable=SC2207 # words of the program have no blanks
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if ((${#COMPREPLY[@]} == 0)); then
        # shellcheck disable=SC2207
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}

complete -o filenames -F _weft weft
