import { connect } from 'node:net';
import { RawJson } from '@workspace-graph/contracts';
import { type EdgeHarness, startEdge } from './edge-harness.js';

export const NODE = '/nodes/0190a000-0000-7000-8000-000000000001';
export const ANSWER = new RawJson('{"id":"x"}');

/** An edge that answers every operation with `ANSWER`, and allows one foreign origin and two hosts. */
export function startExampleEdge(): Promise<EdgeHarness> {
  return startEdge({
    dispatch: () => ANSWER,
    settings: {
      allowedOrigins: ['https://app.example.org'],
      allowedHosts: ['graph.example.org', 'other.example.org:8443'],
    },
  });
}

/** Sends bytes and answers all that comes back before the other side closes or falls silent. */
export function exchange(port: number, text: string, silentMs = 300): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    const chunks: Buffer[] = [];
    socket.setTimeout(silentMs, () => void socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject).on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}
