/** The schemas that this product owns; each has one owning service. A backup holds these, a restore fills these. */
export const productSchemas: readonly string[] = ['identity', 'graph', 'file', 'session', 'audit', 'outbox'];
