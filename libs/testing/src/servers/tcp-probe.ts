import { connect } from 'node:net';

/** True when a loopback port accepts a connection and, after `send`, begins its answer with `expected`. */
export function answersWith(port: number, expected: string, send = ''): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(send));
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(1000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('data', (chunk) => settle(chunk.toString('latin1').startsWith(expected)));
  });
}
