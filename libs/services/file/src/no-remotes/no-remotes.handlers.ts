import { Controller } from '@nestjs/common';
import {
  beginDownload,
  beginPulls,
  beginPush,
  beginPushes,
  beginUpload,
  confirmContent,
  listRemotes,
  listRoutingRules,
  lookAtRemote,
  type OutputOf,
  pullFile,
  pullFiles,
  removeRemote,
  resolveFile,
  ServiceError,
  scaffoldRemote,
  setRoutingPolicy,
  setupRemote,
  snapshotDocument,
  storeFile,
  storeFiles,
  surveyRemote,
  syncNode,
  testRemote,
} from '@workspace-graph/contracts';
import { type HandlerOptions, Handles } from '@workspace-graph/platform';

/** An input that lacks something is refused for the same reason as a whole one. */
const ANY: HandlerOptions = { anyInput: true };

/** What a workspace without remote storage answers about it, whatever is asked of which node or file. */
@Controller()
export class NoRemotesHandlers {
  @Handles(listRemotes)
  async list(): Promise<OutputOf<typeof listRemotes>> {
    return { remotes: [] };
  }

  @Handles(setupRemote, ANY)
  setUp(): Promise<never> {
    return refuse();
  }

  @Handles(testRemote, ANY)
  test(): Promise<never> {
    return refuse();
  }

  @Handles(removeRemote, ANY)
  remove(): Promise<never> {
    return refuse();
  }

  @Handles(listRoutingRules)
  async rules(): Promise<OutputOf<typeof listRoutingRules>> {
    return { rules: [] };
  }

  @Handles(setRoutingPolicy, ANY)
  setRouting(): Promise<never> {
    return refuse();
  }

  @Handles(storeFile, ANY)
  store(): Promise<never> {
    return refuse();
  }

  @Handles(pullFile, ANY)
  pull(): Promise<never> {
    return refuse();
  }

  @Handles(snapshotDocument, ANY)
  snapshot(): Promise<never> {
    return refuse();
  }

  @Handles(syncNode, ANY)
  sync(): Promise<never> {
    return refuse();
  }

  @Handles(confirmContent, ANY)
  confirm(): Promise<never> {
    return refuse();
  }

  @Handles(beginDownload, ANY)
  download(): Promise<never> {
    return refuse();
  }

  @Handles(beginUpload, ANY)
  upload(): Promise<never> {
    return refuse();
  }

  @Handles(beginPush, ANY)
  push(): Promise<never> {
    return refuse();
  }

  @Handles(beginPushes, ANY)
  pushes(): Promise<never> {
    return refuse();
  }

  @Handles(beginPulls, ANY)
  pulls(): Promise<never> {
    return refuse();
  }

  @Handles(storeFiles, ANY)
  storeAll(): Promise<never> {
    return refuse();
  }

  @Handles(pullFiles, ANY)
  pullAll(): Promise<never> {
    return refuse();
  }

  @Handles(lookAtRemote, ANY)
  look(): Promise<never> {
    return refuse();
  }

  @Handles(surveyRemote, ANY)
  survey(): Promise<never> {
    return refuse();
  }

  @Handles(scaffoldRemote, ANY)
  scaffold(): Promise<never> {
    return refuse();
  }

  @Handles(resolveFile, ANY)
  resolve(): Promise<never> {
    return refuse();
  }
}

/** Looks at nothing of the input, so that the answer tells nothing of any node or file. */
async function refuse(): Promise<never> {
  throw new ServiceError(
    'LOCAL_MODE_NO_REMOTE',
    'This is a local workspace: it has no remote storage, so nothing was done. Files stay on this device.',
  );
}
