/** Every limit that a caller can run into. Sizes in bytes, durations in milliseconds. */
export const LIMITS = {
  nameLength: 200,
  textLength: 20_000,
  urlLength: 2_048,
  /** Largest JSON body of an ordinary route. */
  bodyBytes: 1_048_576,
  /** Largest document that `import` takes. */
  importBytes: 256 * 1_048_576,
  /** Largest record of such a document, as JSON text. */
  importRecordBytes: 16 * 1_048_576,
  /** Problems of a document that a refused import lists; it counts all of them. */
  importIssues: 1_000,
  /** Largest request over the bus; a larger one is refused. */
  busRequestBytes: 1_000_000,
  /** Most nodes that one event names: their ids stay well below the largest message. */
  nodesPerEvent: 5_000,
  /** Nodes that one frame of the live channel names; of more a client is told to look at everything. */
  nodesPerFrame: 500,
  /** Largest reply over the bus. */
  busReplyBytes: 256 * 1_048_576,
  /** That a call has in place of ids. */
  referencesPerCall: 20_000,
  /** Of them that are told where they cannot be found; all are counted. */
  referenceIssues: 100,
  listDefault: 50,
  listMax: 500,
  contextDepthMax: 5,
  tokensMin: 500,
  tokensDefault: 8_000,
  tokensMax: 100_000,
  /** Of a file that is read. */
  fileTokensDefault: 25_000,
  /** Edges of each direction in one node answer; the rest through list_edges. */
  nodeEdges: 100,
  /** Newest events in one node answer; the rest through list_events. */
  nodeEvents: 20,
  positionsPerCall: 20_000,
  coordinateMax: 1_000_000,
  versionMax: 2_147_483_647,
  /** Of lists by name: a name of 200 characters can have many times as many bytes once it is folded. */
  cursorLength: 10_000,
  /** Levels of arrays and objects in a JSON text. */
  jsonDepth: 64,
  recipientsPerNode: 500,
  assigneesPerResponsibility: 200,
  /** Characters of why somebody asks for access, and of what is said to that. */
  reasonLength: 2_000,
  pendingAccessRequestsPerUser: 50,
  /** That work at the same time. */
  tokensPerUser: 100,
  tokenDaysDefault: 180,
  tokenDaysMax: 3_650,
  /** For which the code of an invitation works. */
  invitationMinutesDefault: 15,
  invitationMinutesMax: 1_440,
  /** That work at the same time. */
  invitationsPerUser: 20,
  /** UTF-8 bytes of one name in a path: what common file systems hold. */
  fileNameBytes: 255,
  /** Characters of a path within a node. */
  pathLength: 1_024,
  /** Levels of folders in a section. */
  pathDepth: 64,
  /** Largest file that is answered or written inline; larger ones go by path or by stream. */
  inlineFileBytes: 1_048_576,
  /** Largest file that an upload takes. */
  uploadBytes: 8 * 1_024 ** 3,
  /** A larger content of a device goes on where its upload broke off, where the remote keeps what has arrived. */
  resumedFileBytes: 64 * 1_048_576,
  /** For a transfer of bytes to begin, after which its ticket is worth nothing. */
  ticketMs: 30_000,
  filesDefault: 500,
  filesMax: 2_000,
  fileHitsDefault: 20,
  fileHitsMax: 50,
  /** Characters of a snippet of a file. */
  fileSnippetLength: 300,
  /** Text files on remotes that one search looks through, the last changed first, and bytes of the largest of them. */
  grepFiles: 5_000,
  grepFileBytes: 4 * 1_048_576,
  /** Milliseconds for which it does. */
  grepMs: 3_000,
  renameFolderDefault: 20,
  renameFolderMax: 1_000,
  adoptMax: 1_000,
  routingRules: 1_000,
  statusDefault: 200,
  statusMax: 2_000,
  /** Records that one change of the file service touches at most. */
  filesPerChange: 2_000,
  /** Characters of one text in the log of a session. */
  sessionTextLength: 100_000,
  sessionLineLength: 2_000,
  /** Characters of the whole output of one tool call. */
  sessionOutputLength: 1_000_000,
  /** All whole outputs of one session together; beyond, the excerpts are kept alone. */
  sessionOutputBytes: 64 * 1_048_576,
  sessionPolicyLength: 10_000,
  sessionEventsDefault: 200,
  sessionEventsMax: 2_000,
  sessionEventsPerCall: 500,
  questionOptions: 20,
  /** That are open in one session. */
  openQuestions: 20,
  toolCallLocations: 50,
  scopeNodesPerCall: 50,
  /** Nodes of its scope that an agent is told at once. */
  scopeNodesTold: 50,
  /** Changes of a session that one undo looks at, the last ones. */
  undoChanges: 1_000,
  runsPerCall: 2_000,
  logsPerRead: 200,
  viewersPerRead: 20_000,
  /** Sessions whose states a new socket gets. */
  statesOnConnect: 500,
  statesPerRead: 2_000,
  /** Of a client on the live channel. */
  frameBytes: 262_144,
  subscriptionsPerSocket: 200,
  socketsPerUser: 100,
  /** Of one device at a time: a new one takes the place of the oldest, which may be dead. */
  linksPerDevice: 3,
  /** Under way at once over one link. */
  callsPerLink: 64,
  /** Files whose contents one request brings to remotes, or from there, and the bytes of all of them. */
  filesPerBatch: 200,
  batchBytes: 8_388_608,
  /** Largest content that travels with others in one request; a larger one has a request of its own. */
  batchedFileBytes: 262_144,
  /** Objects of remotes that one call looks at. */
  looksPerCall: 200,
  /** Objects of one node that are compared with its records in one call, and records that are. */
  surveyMax: 10_000,
  /** Tracked files in one node answer; the rest through list_files. */
  nodeFiles: 50,
} as const;
