import type { Decision, Question, ValidationIssue } from '@workspace-graph/contracts';

/** What is wrong with a question as it is asked. */
export function problemsOfQuestion(question: Question, path: string): ValidationIssue[] {
  const { type, options = [], default: byDefault } = question;
  const ids = options.map(({ id }) => id);
  const problems: ValidationIssue[] = [];
  if (type === 'approval' && options.length === 0)
    problems.push({ path: `${path}.options`, message: 'an approval needs options' });
  if (type === 'input' && options.length > 0)
    problems.push({ path: `${path}.options`, message: 'an input has no options' });
  if (new Set(ids).size < ids.length)
    problems.push({ path: `${path}.options`, message: 'two options have the same id' });
  const unfit = byDefault && problemOfDecision(question, byDefault);
  return unfit ? [...problems, { path: `${path}.default`, message: unfit }] : problems;
}

/** What is wrong with a decision as an answer to a question; null where it fits. */
export function problemOfDecision({ type, options = [] }: Question, decision: Decision): string | null {
  if (type === 'input') return 'text' in decision ? null : 'an input is answered with { "text" }';
  if (!('option_id' in decision)) return 'an approval is answered with { "option_id" }';
  if (options.some(({ id }) => id === decision.option_id)) return null;
  return `must be one of ${options.map(({ id }) => JSON.stringify(id)).join(', ')}`;
}
