import {
  type OutputOf,
  type ParsedInputOf,
  type RoutingRule,
  type setRoutingPolicy,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import type { Transaction } from '@workspace-graph/database';
import {
  DELETE_RULES,
  INSERT_RULES,
  LIST_RULES,
  LOCK_RULES,
  UNKNOWN_ORGANIZATIONS,
  UNKNOWN_REMOTES,
} from './remote.statements.js';

/** Replaces the whole policy. @throws ServiceError VALIDATION_FAILED that names each rule whose remote or organization there is not */
export async function replaceRules(
  tx: Transaction,
  { rules }: ParsedInputOf<typeof setRoutingPolicy>,
): Promise<OutputOf<typeof setRoutingPolicy>> {
  await tx.execute(LOCK_RULES);
  await refuseUnknown(tx, rules);
  const before = await tx.rows<RoutingRule>(LIST_RULES);
  await tx.execute(DELETE_RULES);
  await tx.execute(INSERT_RULES, [JSON.stringify(rules)]);
  tx.audit({
    action: 'set_routing_policy',
    targetKind: 'workspace',
    targetId: null,
    before: { rules: before },
    after: { rules },
  });
  return { count: rules.length };
}

async function refuseUnknown(tx: Transaction, rules: readonly RoutingRule[]): Promise<void> {
  const names = await tx.rows<{ name: string }>(UNKNOWN_REMOTES, [[...new Set(rules.map((rule) => rule.remote_name))]]);
  const keys = [...new Set(rules.flatMap(({ org_slug }) => org_slug ?? []))];
  const slugs = await tx.rows<{ key: string }>(UNKNOWN_ORGANIZATIONS, [keys]);
  const [unknownNames, unknownKeys] = [new Set(names.map(({ name }) => name)), new Set(slugs.map(({ key }) => key))];
  const issues = rules.flatMap(({ remote_name, org_slug }, place): ValidationIssue[] => [
    ...(unknownNames.has(remote_name)
      ? [
          {
            path: `rules.${place}.remote_name`,
            message: `is ${JSON.stringify(remote_name)}, and there is no such remote`,
          },
        ]
      : []),
    ...(org_slug !== null && unknownKeys.has(org_slug)
      ? [
          {
            path: `rules.${place}.org_slug`,
            message: `is ${JSON.stringify(org_slug)}, and no organization has this sync_key`,
          },
        ]
      : []),
  ]);
  if (issues.length > 0) throw validationFailed(issues);
}
