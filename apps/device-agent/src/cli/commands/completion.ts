import type { Command, Option } from 'commander';
import { Argument } from 'commander';
import { runs } from '../run-command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** `svc completion bash|zsh|fish` */
export function completionCommand(program: Command): void {
  runs(
    program
      .command('completion')
      .description('print a completion script for your shell')
      .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS)),
    async ({ out, args }) => {
      const script = completionScript(program, args[0] as Shell);
      out.result({ shell: args[0], script }, [script]);
    },
  );
}

/** The script of a shell, made from the commands as they are declared. */
export function completionScript(program: Command, shell: Shell): string {
  const levels = levelsOf(program, '');
  switch (shell) {
    case 'bash':
      return bashScript(levels);
    case 'zsh':
      return `#compdef svc\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(levels)}`;
    case 'fish':
      return fishScript(levels);
  }
}

/** What may stand in one place: one of some words, a file, or a text that only the person knows. */
type Values = { readonly words: readonly string[] } | 'file' | 'text';

interface Flag {
  readonly name: string;
  readonly about: string;
  /** Null for one that takes no value. */
  readonly values: Values | null;
}

interface Place {
  readonly values: Values;
  readonly isLast: boolean;
}

/** A command with what may follow it. */
interface Level {
  /** Its name with those of the commands above it; '' for svc itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly Flag[];
  readonly places: readonly Place[];
}

function levelsOf(command: Command, path: string): Level[] {
  const options = command.options.filter((option) => option.long && !option.hidden);
  const level: Level = {
    path,
    commands: command.commands.map((child) => ({ name: child.name(), about: child.description() })),
    flags: [...options.map(flagOf), { name: '--help', about: 'show help', values: null }],
    places: command.registeredArguments.map((argument) => ({
      values: valuesOf(argument.argChoices, argument.name()),
      isLast: argument.variadic,
    })),
  };
  return [level, ...command.commands.flatMap((child) => levelsOf(child, `${path} ${child.name()}`.trim()))];
}

function flagOf({ long, description, required, optional, flags, argChoices }: Option): Flag {
  const [, placeholder = ''] = /[<[](\w+)/.exec(flags) ?? [];
  const values = required || optional ? valuesOf(argChoices, placeholder) : null;
  return { name: long ?? '', about: description, values };
}

function valuesOf(choices: readonly string[] | undefined, name: string): Values {
  if (choices) return { words: choices };
  return name === 'file' || name === 'folder' ? 'file' : 'text';
}

/** Flags that take a value, by the kind of it, as "command --flag". */
function valuedFlags(levels: readonly Level[]): { readonly key: string; readonly values: Values }[] {
  return levels.flatMap(({ path, flags }) =>
    flags.flatMap(({ name, values }) => (values === null ? [] : [{ key: `${path} ${name}`, values }])),
  );
}

function childKeys(levels: readonly Level[]): string[] {
  return levels.flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`));
}

/** Names are chosen so that zsh, which runs this too, does not take them for its own, such as `path` and `words`. */
function bashScript(levels: readonly Level[]): string {
  const valued = valuedFlags(levels);
  return `_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" level="" flag="" flags="" found="" word at=0 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == "=" ]]; then continue; fi
    if [[ -n $flag ]]; then flag=""; continue; fi
    case "$level $word" in
      ${anyOf(valued.map(({ key }) => key))}) flag="$level $word" ;;
      ${anyOf(childKeys(levels))}) level="\${level:+$level }$word"; at=0 ;;
      *) if [[ $word != -* ]]; then at=$((at + 1)); fi ;;
    esac
  done
  if [[ $cur == "=" ]]; then cur=""; fi
  case "$level" in
${levels.map(({ path, flags }) => `    "${path}") flags="${flags.map(({ name }) => name).join(' ')}" ;;`).join('\n')}
  esac
  if [[ -n $flag ]]; then
    case "$flag" in
${valued.flatMap(({ key, values }) => bashCase(`"${key}"`, values)).join('\n')}
    esac
  elif [[ $cur == -* ]]; then
    found="$flags"
  else
    case "$level:$at" in
${levels.flatMap(bashPlaces).join('\n')}
      *) found="$flags" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$cur"))
  # Where no file is meant, none is offered.
  compopt +o default 2>/dev/null || true
}
complete -o default -F _svc svc`;
}

/** A pattern of \`case\`. */
function anyOf(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join('|');
}

/** Files are left to the shell, which offers them when the answer is empty. */
function bashCase(pattern: string, values: Values): string[] {
  if (values === 'text') return [];
  return [`      ${pattern}) ${values === 'file' ? 'return' : `found="${values.words.join(' ')}"`} ;;`];
}

function bashPlaces({ path, commands, places }: Level): string[] {
  if (commands.length > 0) return bashCase(`"${path}:0"`, { words: commands.map(({ name }) => name) });
  return places.flatMap(({ values, isLast }, at) => bashCase(isLast ? `"${path}:"*` : `"${path}:${at}"`, values));
}

function fishScript(levels: readonly Level[]): string {
  const all = (keys: readonly string[]): string => keys.map(quoted).join(' ');
  return `function __svc_state
    set -l level ''
    set -l skip 0
    set -l at 0
    set -l before (commandline -opc)
    set -e before[1]
    for word in $before
        if test $skip -eq 1
            set skip 0
            continue
        end
        switch "$level $word"
            case ${all(valuedFlags(levels).map(({ key }) => key))}
                set skip 1
            case ${all(childKeys(levels))}
                set level (string trim -- "$level $word")
                set at 0
            case '* -*'
            case '*'
                set at (math $at + 1)
        end
    end
    echo "$level:$at"
end
function __svc_in
    string match -q -- "$argv[1]:*" (__svc_state)
end
function __svc_at
    string match -q -- "$argv[1]" (__svc_state)
end
complete -c svc -f
${levels.flatMap(fishLines).join('\n')}`;
}

function fishLines({ path, commands, flags, places }: Level): string[] {
  const when = (test: string, what: string): string => `complete -c svc -n ${quoted(`${test} "${what}"`)}`;
  return [
    ...commands.map(({ name, about }) => `${when('__svc_at', `${path}:0`)} -a ${name} -d ${quoted(about)}`),
    ...flags.map(({ name, about, values }) =>
      [when('__svc_in', path), '-l', name.slice(2), ...fishValues(values), '-d', quoted(about)].join(' '),
    ),
    ...places.flatMap(({ values, isLast }, at) => {
      const place = when('__svc_at', `${path}:${isLast ? '*' : at}`);
      if (values === 'text') return [];
      return [values === 'file' ? `${place} -F` : `${place} -a ${quoted(values.words.join(' '))}`];
    }),
  ];
}

function fishValues(values: Values | null): string[] {
  if (values === null) return [];
  if (values === 'file') return ['-r', '-F'];
  return values === 'text' ? ['-x'] : ['-x', '-a', quoted(values.words.join(' '))];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
