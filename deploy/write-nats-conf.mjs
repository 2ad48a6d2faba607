import { writeFileSync } from 'node:fs';
import { natsPermissionsConfig } from '@workspace-graph/bus';
import { SERVICES } from '@workspace-graph/platform';

/** Where the configuration finds the password of a user. */
function variableOf(user) {
  return `NATS_${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
}

/** The broker's configuration: one user per service, each with the narrowest permissions it works with. */
export function natsConf() {
  const users = Object.entries(SERVICES).map(
    ([user, role]) =>
      `    { user: ${JSON.stringify(user)}, password: $${variableOf(user)}, permissions: ${natsPermissionsConfig({ user, ...role })} }`,
  );
  return `# Written by: node deploy/write-nats-conf.mjs
# The passwords, a secret of the compose file; the path is seen from /etc/nats.
include ../../run/secrets/nats_passwords
port: 4222
http: 8222
max_payload: 1048576
# A client that is frozen or cut off is left within eight seconds.
ping_interval: "2s"
ping_max: 2
authorization {
  users = [
${users.join(',\n')}
  ]
}
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(new URL('nats.conf', import.meta.url), natsConf());
