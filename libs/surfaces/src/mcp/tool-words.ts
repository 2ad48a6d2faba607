import { OPERATIONS } from '@workspace-graph/contracts';

/** Names of operations that are no words of English, with the tools that stand for them. */
const TOOLS = new Map(
  [...OPERATIONS.values()].flatMap(({ name, mcp }) => (mcp && name.includes('_') ? [[name, mcp.tool] as const] : [])),
);

/** A text of the operations table as agents read it: operations go by the names of their tools. */
export function inToolNames(text: string): string {
  return text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => TOOLS.get(word) ?? word);
}
