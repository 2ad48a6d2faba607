import { writeFileSync } from 'node:fs';
import { natsPermissionsConfig } from '@workspace-graph/bus';
import { ROLES } from './roles.mjs';

/** The broker's configuration: one user per service, each with the narrowest permissions it works with. */
export function natsConf() {
  const users = ROLES.map(
    ({ user, password, ...role }) =>
      `    { user: ${JSON.stringify(user)}, password: ${password}, permissions: ${natsPermissionsConfig({ user, ...role })} }`,
  );
  return `# Written by: node deploy/write-nats-conf.mjs
port: 4222
http: 8222
max_payload: 1048576
authorization {
  users = [
${users.join(',\n')}
  ]
}
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(new URL('nats.conf', import.meta.url), natsConf());
