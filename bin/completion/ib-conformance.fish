# Completion of ib-conformance in fish, 3 or later. What may stand where, the program says itself.
function __ib_conformance_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string unescape; or commandline -ct)
    set -l program (string replace -r '^~(?=/)' -- $HOME $words[1])
    set -e words[1]
    for line in ($program __complete $words "$current" 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        if test "$parts[1]" = :file
            set -l begun (string length -- "$parts[2]")
            for path in (__fish_complete_path (string sub -s (math $begun + 1) -- "$current"))
                echo -- "$parts[2]$path"
            end
        else
            echo -- $line
        end
    end
end
complete -c ib-conformance -f -a '(__ib_conformance_complete)'
