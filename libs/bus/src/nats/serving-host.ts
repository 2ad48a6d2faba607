import type { BusLogger } from '../bus.js';
import type { BusSettings } from '../settings.js';
import type { NatsLink } from './link.js';

/** What serving needs of the bus it belongs to. */
export interface ServingHost {
  readonly link: NatsLink;
  readonly settings: BusSettings;
  readonly logger: BusLogger;
  readonly wholeBytes: number;
  readonly partBytes: number;
}
