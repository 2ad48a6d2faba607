import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { ObjectServer } from '@workspace-graph/testing';
import type { RemoteWorld } from '../conformance/world.js';
import { ObjstoreRemote } from './objstore.remote.js';
import { type ObjstoreConfig, S3Http } from './s3-http.js';

const ROOT = 'files of/an organisation';

/** A bucket of its own on a shared server, reached through a door that can be shut. */
export async function objstoreWorld(server: ObjectServer): Promise<RemoteWorld> {
  const door = await Door.to(server.port);
  const config = configOf(server, `bucket-${randomUUID()}`);
  const direct = new S3Http(config);
  await server.makeBucket(config.bucket);
  const remote = await ObjstoreRemote.open({ ...config, endpoint: `http://127.0.0.1:${door.port}` });
  const policy = { query: { policy: '' }, path: '' };
  return {
    remote,
    plant: async (path, content) => {
      await direct.done('PUT', `${ROOT}/${path}`, { path, body: content });
    },
    break: async (reason) => {
      if (reason === 'unavailable') return door.shut();
      await direct.done('PUT', null, { ...policy, body: JSON.stringify(denying(config.bucket)) });
    },
    mend: async () => {
      door.open();
      await direct.done('DELETE', null, policy);
    },
    leftOvers: async () => {
      const uploads = await direct.xml('GET', null, { path: '', query: { uploads: '' } });
      return uploads.children.flatMap(({ name, children }) => (name === 'Upload' ? [JSON.stringify(children)] : []));
    },
    close: async () => {
      await remote[Symbol.asyncDispose]();
      await door.close();
    },
  };
}

export function configOf({ url, accessKeyId, secretAccessKey }: ObjectServer, bucket: string): ObjstoreConfig {
  return { endpoint: url, region: 'us-east-1', bucket, root: ROOT, pathStyle: true, accessKeyId, secretAccessKey };
}

/** Lets nobody change anything. */
function denying(bucket: string): object {
  const Action = ['s3:PutObject', 's3:DeleteObject'];
  const Statement = [{ Effect: 'Deny', Principal: '*', Action, Resource: [`arn:aws:s3:::${bucket}/*`] }];
  return { Version: '2012-10-17', Statement };
}

class Door {
  private isShut = false;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(to: number) {
    this.server = createServer((inside) => {
      if (this.isShut) return void inside.destroy();
      const outside = connect(to, '127.0.0.1');
      for (const [one, other] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => other.destroy());
        one.once('close', () => {
          this.sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
  }

  static async to(port: number): Promise<Door> {
    const door = new Door(port);
    await new Promise<void>((resolve) => door.server.listen(0, '127.0.0.1', resolve));
    return door;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  shut(): void {
    this.isShut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  open(): void {
    this.isShut = false;
  }

  async close(): Promise<void> {
    this.shut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
