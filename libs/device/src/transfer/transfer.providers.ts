import type { Provider } from '@nestjs/common';
import { CENTRAL_FILES, type CentralFiles } from './central-files.js';
import { LocalFiles } from './local-files.js';
import { Transfers } from './transfers.js';

export function transferProviders(centre: CentralFiles): Provider[] {
  return [{ provide: CENTRAL_FILES, useValue: centre }, LocalFiles, Transfers];
}
