/** One thing that `svc doctor` looked at. `advice` tells what to do about a warning or failure. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly found: string;
  readonly advice?: string;
}
