import { defineConfig } from 'prisma-cli/config';

// Generating the client runs no engine; without this variable Prisma would try to download one.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['SVC_DATABASE_URL'] ?? '' },
});
