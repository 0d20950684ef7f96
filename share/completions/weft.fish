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

# "net.routing=minimal" for values that are names, else "net.bandwidth=".
function __weft_parameters
    weft help gen net node mpi cpu replay run traffic engine 2>/dev/null |
        sed -n 's/^ *-p \([a-z]*\.[A-Za-z0-9_]*\)=\([^ ]*\).*/\1=\2/p' |
        awk -F= '$2 ~ /^</ { print $1 "="; next } { n = split($2, v, "|"); for (i = 1; i <= n; i++) print $1 "=" v[i] }'
end

function __weft_machines
    weft machine list 2>/dev/null | grep -oE '^[a-z][a-z0-9-]*'
end

complete -c weft -s p -l param -x -a '(__weft_parameters)'
complete -c weft -l machine -a '(__weft_machines)'
complete -c weft -l topo -a '(__weft_topics | string match "topo.*" | string replace topo. "" | string replace -r "\$" ":")'
complete -c weft -l net -x -a '(__weft_topics | string match "net.*" | string replace net. "")'
complete -c weft -n '__fish_is_first_arg' -f -a '(__weft_commands)'
complete -c weft -n 'not __fish_is_first_arg' -a '(__weft_options)'
complete -c weft -n '__fish_seen_subcommand_from help' -f -a '(__weft_topics)'
complete -c weft -n '__fish_seen_subcommand_from replay gen' -a '(__weft_topics | string match "gen.*" | string replace gen. gen:)'
