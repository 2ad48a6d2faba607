import { Controller, Inject } from '@nestjs/common';
import {
  examineWorkspace,
  type OutputOf,
  type ParsedInputOf,
  readMembership,
  revealWorkspaceToken,
  rotateWorkspaceToken,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { checkWorkspaceOwner, noteReveal, replaceWorkspaceToken } from '@workspace-graph/service-identity';
import { examineElsewhere } from './examine-elsewhere.js';
import { keptSecret, storeToken, whileRotating } from './token-file.js';
import type { WorkspacePaths } from './workspace-paths.js';

export const LOCAL_WORKSPACE = Symbol('LOCAL_WORKSPACE');

/** What the process knows of the workspace that it serves. */
export interface LocalWorkspace {
  readonly paths: WorkspacePaths;
  /** The one person whose machine this is. */
  readonly ownerId: () => string | undefined;
}

/** The workspace of one machine itself, for its owner. */
@Controller()
export class WorkspaceHandlers {
  private examining: Promise<OutputOf<typeof examineWorkspace>> | null = null;

  constructor(
    private readonly database: Database,
    @Inject(LOCAL_WORKSPACE) private readonly workspace: LocalWorkspace,
  ) {}

  @Handles(revealWorkspaceToken)
  async reveal(
    _input: ParsedInputOf<typeof revealWorkspaceToken>,
    context: OperationContext,
  ): Promise<OutputOf<typeof revealWorkspaceToken>> {
    const secret = await keptSecret(this.workspace.paths);
    await noteReveal(this.database, context, secret);
    return { secret };
  }

  @Handles(rotateWorkspaceToken)
  async rotate(
    _input: ParsedInputOf<typeof rotateWorkspaceToken>,
    context: OperationContext,
  ): Promise<OutputOf<typeof rotateWorkspaceToken>> {
    const { paths } = this.workspace;
    return whileRotating(paths, async () => {
      const store = (secret: string) => storeToken(paths, secret);
      return { token: await replaceWorkspaceToken(this.database, context, { secret: await keptSecret(paths), store }) };
    });
  }

  @Handles(readMembership)
  async membership(): Promise<OutputOf<typeof readMembership>> {
    return { membership: null };
  }

  /** Whoever asks while it is looked at gets that answer. */
  @Handles(examineWorkspace)
  async examine(
    _input: ParsedInputOf<typeof examineWorkspace>,
    { caller }: OperationContext,
  ): Promise<OutputOf<typeof examineWorkspace>> {
    checkWorkspaceOwner(caller, this.workspace.ownerId() ?? '');
    this.examining ??= examineElsewhere(this.workspace.paths).finally(() => {
      this.examining = null;
    });
    return this.examining;
  }
}
