import { aboutOf, defaultOf, type ProcessName, VARIABLE_NAMES, type VariableName } from './variables.js';

/** The table of all environment variables, as Markdown. */
export function describeConfig(): string {
  const rows = VARIABLE_NAMES.map((name) => `| ${cells(name).join(' | ')} |`);
  return ['| Variable | Meaning | Accepts | Default | Used by |', '|---|---|---|---|---|', ...rows, ''].join('\n');
}

function cells(name: VariableName): string[] {
  const { doc, kind, usedBy } = aboutOf(name);
  const variable = kind.secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
  return [variable, doc, kind.accepts, describeDefault(name), usedBy.join(', ')].map((cell) =>
    cell.replaceAll('|', '\\|'),
  );
}

function describeDefault(name: VariableName): string {
  const { default: fallback, requiredBy, usedBy } = aboutOf(name);
  if (requiredBy) return requiredBy.length === usedBy.length ? 'required' : `required by ${requiredBy.join(', ')}`;
  if (fallback === undefined) return 'not set';
  if (typeof fallback === 'string') return fallback === '' ? 'empty' : `\`${fallback}\``;
  return usedBy.map((process: ProcessName) => `\`${defaultOf(name, process)}\` (${process})`).join(', ');
}
