import type { Provider } from '@nestjs/common';
import { BatchPulls } from './batch-pulls.js';
import { BatchPushes } from './batch-pushes.js';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { Intakes } from './intake.js';
import { LocalFiles } from './local-files.js';
import { Placements } from './placements.js';
import { Transfers } from './transfers.js';

export function transferProviders(centre: CentralFiles): Provider[] {
  return [
    { provide: CENTRAL_FILES, useValue: centre },
    LocalFiles,
    Transfers,
    Placements,
    BatchPushes,
    BatchPulls,
    Intakes,
  ];
}
