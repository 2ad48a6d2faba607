import { cpSync, rmSync } from 'node:fs';

// The built package carries its migrations, so that it works outside the repository too.
const target = new URL('dist/migrations/', import.meta.url);
rmSync(target, { recursive: true, force: true });
cpSync(new URL('../../prisma/migrations/', import.meta.url), target, { recursive: true });
