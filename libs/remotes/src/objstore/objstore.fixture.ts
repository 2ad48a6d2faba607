import { randomUUID } from 'node:crypto';
import type { ObjectServer } from '@workspace-graph/testing';
import { FaultyNetwork } from '../conformance/faulty-network.js';
import type { RemoteWorld } from '../conformance/world.js';
import { ObjstoreRemote } from './objstore.remote.js';
import { type ObjstoreConfig, S3Http } from './s3-http.js';

const ROOT = 'files of/an organisation';

/** A bucket of its own on a shared server, reached through a door that can be shut. */
export async function objstoreWorld(server: ObjectServer): Promise<RemoteWorld> {
  const network = await FaultyNetwork.to(server.port);
  const config = configOf(server, `bucket-${randomUUID()}`);
  const direct = new S3Http(config);
  await server.makeBucket(config.bucket);
  const remote = await ObjstoreRemote.open({ ...config, endpoint: `http://127.0.0.1:${network.port}` });
  const policy = { query: { policy: '' }, path: '' };
  return {
    remote,
    network,
    plant: async (path, content) => {
      await direct.done('PUT', `${ROOT}/${path}`, { path, body: content });
    },
    break: async (reason) => {
      if (reason === 'unavailable') return network.shut();
      await direct.done('PUT', null, { ...policy, body: JSON.stringify(denying(config.bucket)) });
    },
    mend: async () => {
      await network.mend();
      await direct.done('DELETE', null, policy);
    },
    leftOvers: async () => {
      const uploads = await direct.xml('GET', null, { path: '', query: { uploads: '' } });
      return uploads.children.flatMap(({ name, children }) => (name === 'Upload' ? [JSON.stringify(children)] : []));
    },
    close: async () => {
      await remote[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
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
