# SPDX-License-Identifier: Apache-2.0
# Completion of weft in fish; what there is to complete comes from the program itself.

function __weft_commands
    weft help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __weft_options
    set -l words (commandline -opc)
    weft $words[2] --help 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
end

function __weft_topics
    weft help 2>/dev/null | grep -oE '^  [a-z]+\.[a-z0-9_-]+' | tr -d ' '
end

complete -c weft -n '__fish_is_first_arg' -f -a '(__weft_commands)'
complete -c weft -n 'not __fish_is_first_arg' -a '(__weft_options)'
complete -c weft -n '__fish_seen_subcommand_from help' -f -a '(__weft_topics)'
complete -c weft -n '__fish_seen_subcommand_from replay gen' -a '(__weft_topics | string match "gen.*" | string replace gen. gen:)'
