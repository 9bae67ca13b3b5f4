#compdef ib-conformance
# Completion of ib-conformance in zsh. What may stand where, the program says itself.
_ib_conformance() {
  local program=${words[1]/#\~/$HOME} line
  local -a lines described
  lines=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] == :file* ]]; then
    compset -P "${(b)lines[1]#*$'\t'}"
    _files
    return
  fi
  for line in $lines; do
    described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe ib-conformance described
}
# It may be sourced, or stand in a folder of $fpath as _ib-conformance.
if [[ $funcstack[1] == _ib-conformance ]]; then
  _ib_conformance "$@"
else
  compdef _ib_conformance ib-conformance
fi
