import { Controller, Inject } from '@nestjs/common';
import {
  examineWorkspace,
  type OutputOf,
  type ParsedInputOf,
  revealWorkspaceToken,
  rotateWorkspaceToken,
  ServiceError,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { checkWorkspaceOwner, noteReveal, replaceWorkspaceToken } from '@workspace-graph/service-identity';
import { CliError } from '../cli/cli-error.js';
import { examineElsewhere } from './examine-elsewhere.js';
import { lockRotation, readTokenFile, storeToken } from './token-file.js';
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
    const secret = await this.secret();
    await noteReveal(this.database, context, secret);
    return { secret };
  }

  @Handles(rotateWorkspaceToken)
  async rotate(
    _input: ParsedInputOf<typeof rotateWorkspaceToken>,
    context: OperationContext,
  ): Promise<OutputOf<typeof rotateWorkspaceToken>> {
    const { paths } = this.workspace;
    const lock = this.lock();
    try {
      const store = (secret: string) => storeToken(paths, secret);
      return { token: await replaceWorkspaceToken(this.database, context, { secret: await this.secret(), store }) };
    } finally {
      lock.release();
    }
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

  private async secret(): Promise<string> {
    const secret = await readTokenFile(this.workspace.paths);
    if (secret === null)
      throw new ServiceError('CONFLICT', 'This workspace has lost the file of its token; a restart makes a new one.');
    return secret;
  }

  private lock() {
    try {
      return lockRotation(this.workspace.paths);
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      throw new ServiceError('CONFLICT', cause.message, undefined, { cause });
    }
  }
}
