/**
 * @typedef {{ keyword: string, flags: Record<string, string>, text: string, line: number }} Instruction
 * @typedef {{ name: string, base: string, instructions: Instruction[] }} Stage
 */

/** Instructions with their continued lines joined; comments are left out. */
function readInstructions(text) {
  const instructions = [];
  let pending;
  for (const [index, raw] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(raw)) continue;
    const ends = !raw.endsWith('\\');
    const part = ends ? raw.trim() : raw.slice(0, -1).trim();
    pending = pending ? { ...pending, text: `${pending.text} ${part}` } : { text: part, line: index + 1 };
    if (!ends) continue;
    instructions.push(toInstruction(pending));
    pending = undefined;
  }
  return instructions;
}

function toInstruction({ text, line }) {
  const [keyword = '', ...words] = text.split(/\s+/);
  const flags = {};
  while (words[0]?.startsWith('--')) {
    const [name, value = ''] = words.shift().slice(2).split(/=(.*)/s);
    flags[name] = value;
  }
  return { keyword: keyword.toUpperCase(), flags, text: words.join(' '), line };
}

/**
 * Reads the stages of a Dockerfile; variables of its head are filled in with their defaults.
 * @param {string} text
 * @returns {Stage[]}
 */
export function readDockerfile(text) {
  const stages = [];
  const variables = {};
  for (const instruction of readInstructions(text)) {
    const stage = stages.at(-1);
    if (instruction.keyword === 'FROM') stages.push(toStage(instruction, variables));
    else if (stage) stage.instructions.push(instruction);
    else if (instruction.keyword === 'ARG') Object.assign(variables, readPairs(instruction.text));
    else throw new Error(`Line ${instruction.line}: ${instruction.keyword} is before the first FROM`);
  }
  return stages;
}

function toStage({ text, line }, variables) {
  const [, base, name] = /^(\S+) AS (\S+)$/i.exec(filled(text, variables, line)) ?? [];
  if (!base || !name) throw new Error(`Line ${line}: every stage must have a name`);
  return { name, base, instructions: [] };
}

/** A text with its `${NAME}`s replaced. @throws Error for one without a value */
export function filled(text, variables, line) {
  return text.replace(/\$\{(\w+)\}/g, (_match, name) => {
    if (variables[name] === undefined) throw new Error(`Line ${line}: ${name} has no value`);
    return variables[name];
  });
}

/**
 * `NAME=value` words, as ENV and ARG take them.
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function readPairs(text) {
  return Object.fromEntries(text.split(/\s+/).map((word) => word.split(/=(.*)/s).slice(0, 2)));
}

/**
 * The rules of a .dockerignore, last match first.
 * @param {string} text
 * @returns {(path: string) => boolean} true for a path, with `/` between its parts, that does not get into an image
 */
export function readIgnored(text) {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ ignores: !line.startsWith('!'), pattern: toPattern(line.replace(/^!/, '')) }))
    .reverse();
  return (path) => rules.find(({ pattern }) => pattern.test(path))?.ignores ?? false;
}

/** A rule holds for what it names and for everything below. */
function toPattern(rule) {
  const parts = rule
    .replace(/^\/|\/$/g, '')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*|\?/g, (wildcard) => ({ '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' })[wildcard]);
  return new RegExp(`^${parts}(?:/.*)?$`);
}
