// The scripts by which shells query `distrun complete -- WORD...`: it prints a line per candidate, with a tab before
// the description; a line that begins with a colon names the kind of paths to add.
#include "completion.hpp"
#include "options/parsing.hpp"

namespace distrun::cli {
namespace {

// bash splits words at = and :, and replaces only the rest; distrun needs whole words.
constexpr char kBash[] = R"(# bash completion for distrun, made by `distrun completion bash`.

_distrun_words() {
  local rest=${COMP_LINE:0:COMP_POINT} i word
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -eq 0 || $rest == [[:blank:]]* ]]; then
      words+=("")
      rest=${rest#"${rest%%[![:blank:]]*}"}
    fi
    word=${rest:0:${#word}}
    words[${#words[@]} - 1]+=$word
    rest=${rest:${#word}}
  done
}

_distrun_paths() {
  local value=${cur#"$fixed"} path
  case $1 in
    :directories) while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen -d -- "$value") ;;
    :plugins)
      while IFS= read -r path; do
        if [[ -d $path || $path == *.so ]]; then COMPREPLY+=("$path"); fi
      done < <(compgen -f -- "$value")
      ;;
    :paths) while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen -f -- "$value") ;;
  esac
  compopt -o filenames 2>/dev/null || :
}

_distrun() {
  local words cur fixed quote='' line program
  _distrun_words
  program=${words[0]/#\~/$HOME}
  words=("${words[@]:1}")
  cur=${words[${#words[@]} - 1]}
  if [[ $cur == [\'\"]* ]]; then
    quote=${cur:0:1}
    cur=${cur:1}
  fi
  words[${#words[@]} - 1]=$cur
  fixed=
  if [[ -z $quote && $cur == *[=:]* ]]; then fixed=${cur%"${cur##*[=:]}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      _distrun_paths "$line"
      continue
    fi
    line=${line%%$'\t'*}
    [[ $line == "$cur"* ]] || continue
    line=${line#"$fixed"}
    if [[ -z $quote ]]; then printf -v line %q "$line"; fi
    COMPREPLY+=("$line")
  done < <("$program" complete -- "${words[@]}" 2>/dev/null </dev/null)
}

complete -F _distrun distrun
)";

constexpr char kZsh[] = R"(#compdef distrun
# zsh completion for distrun, made by `distrun completion zsh`.

_distrun() {
  local line word
  local -a found
  local -a given=("${(@Q)words[2,CURRENT]}")
  for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" complete -- "${given[@]}" 2>/dev/null </dev/null)}"; do
    case $line in
      '') ;;
      :directories) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
      :plugins) _files -g '*.so' ;;
      :paths) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
      *)
        word=${line%%$'\t'*}
        found+=("${word//:/\\:}${${line#"$word"}/#$'\t'/:}")
        ;;
    esac
  done
  (( $#found )) && _describe distrun found
}

if [ "$funcstack[1]" = "_distrun" ]; then
  _distrun "$@"
else
  compdef _distrun distrun
fi
)";

constexpr char kFish[] = R"(# fish completion for distrun, made by `distrun completion fish`.

function __distrun_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l fixed (string match -r '^--[^=]*=' -- "$current")
    set -l value (string replace -r '^--[^=]*=' '' -- "$current")
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete -- $words "$current" 2>/dev/null </dev/null)
        switch $line
            case ':directories'
                for path in (__fish_complete_directories "$value")
                    printf '%s%s\n' "$fixed" $path
                end
            case ':plugins'
                __fish_complete_suffix .so
            case ':paths'
                for path in (__fish_complete_path "$value")
                    printf '%s%s\n' "$fixed" $path
                end
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c distrun -f -a '(__distrun_complete)'
)";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  refuse("completion " + shell + ": unknown shell; expected bash, zsh or fish");
}

}  // namespace distrun::cli
