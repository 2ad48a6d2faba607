import { Controller, Inject } from '@nestjs/common';
import {
  examineWorkspace,
  type OutputOf,
  type ParsedInputOf,
  readMembership,
  revealWorkspaceToken,
  rotateWorkspaceToken,
} from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { examineElsewhere } from '../workspace/examine-elsewhere.js';
import { keptSecret, storeToken, whileRotating } from '../workspace/token-file.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';
import type { Centre } from './centre.js';
import type { LocalCredentials } from './local-credentials.js';
import { type LocalIdentity, tokenOf } from './local-identity.js';
import type { Membership } from './membership.js';

export const JOINED_WORKSPACE = Symbol('JOINED_WORKSPACE');

/** What the process knows of its membership. */
export interface JoinedWorkspace {
  readonly paths: WorkspacePaths;
  readonly membership: Membership;
  readonly centre: Centre;
  readonly credentials: LocalCredentials;
  readonly identity: LocalIdentity;
}

/** The workspace of a workstation itself, for its person. */
@Controller()
export class JoinedHandlers {
  private examining: Promise<OutputOf<typeof examineWorkspace>> | null = null;

  constructor(@Inject(JOINED_WORKSPACE) private readonly workspace: JoinedWorkspace) {}

  @Handles(readMembership)
  async membership(): Promise<OutputOf<typeof readMembership>> {
    const { membership, centre } = this.workspace;
    const { url, device, user, joined_at, token_expires_at } = membership;
    const { state, problem } = centre;
    const since = centre.since.toISOString();
    return { membership: { url, device, user, joined_at, token_expires_at, state, problem, since } };
  }

  @Handles(revealWorkspaceToken)
  async reveal(): Promise<OutputOf<typeof revealWorkspaceToken>> {
    return { secret: await keptSecret(this.workspace.paths) };
  }

  @Handles(rotateWorkspaceToken)
  async rotate(
    _input: ParsedInputOf<typeof rotateWorkspaceToken>,
    { caller }: OperationContext,
  ): Promise<OutputOf<typeof rotateWorkspaceToken>> {
    const { credentials, identity, membership, paths } = this.workspace;
    const credential = await whileRotating(paths, async () => {
      const made = await credentials.makeSuccessor();
      await storeToken(paths, made.secret);
      await identity.complete(made.credential.id);
      return made.credential;
    });
    return { token: tokenOf(credential, { user: membership.user, scope: caller.scope }) };
  }

  /** Whoever asks while it is looked at gets that answer. */
  @Handles(examineWorkspace)
  async examine(): Promise<OutputOf<typeof examineWorkspace>> {
    this.examining ??= examineElsewhere(this.workspace.paths).finally(() => {
      this.examining = null;
    });
    return this.examining;
  }
}
