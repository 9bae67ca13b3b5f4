# Completion of ib-conformance in bash, 3.2 or later. What may stand where, the program says itself.
_ib_conformance() {
  local program=${1/#\~/$HOME} words=() word='' piece='' at line
  for ((at = 1; at <= COMP_CWORD; at++)); do
    piece=${COMP_WORDS[at]}
    # bash takes = and : for words of their own; behind a space a new one begins.
    if [[ $at -gt 1 && ($piece == [=:]* || $word == *[=:]) &&
      ! (-z $piece && ${COMP_LINE:COMP_POINT-1:1} == ' ') ]]; then
      word+=$piece
    else
      ((at > 1)) && words+=("$word")
      word=$piece
    fi
  done
  # What bash puts in is the last piece alone.
  [[ $piece == [=:]* ]] && piece=${piece##*[=:]}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :file* ]]; then
      compopt -o default 2>/dev/null && return
      local IFS=$'\n'
      COMPREPLY=($(compgen -f -- "$piece"))
      return
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"${word%"$piece"}"}")
    fi
  done < <("$program" __complete ${words[@]+"${words[@]}"} "$word" 2>/dev/null)
}
complete -F _ib_conformance ib-conformance
