/** An organization as a document of the import has it, as far as an outline is about it. */
export interface OrganizationDocument {
  readonly nodes: readonly NodeOfDocument[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly relation: string }[];
}

export interface NodeOfDocument {
  readonly key: string;
  readonly type: 'organization' | 'project' | 'process' | 'area' | 'principle';
  readonly name: string;
  readonly description?: string;
}

const AREAS = [
  'API Machinery and Admission',
  'Apps and Controllers',
  'Architecture and Conformance',
  'Authentication and Authorization',
  'Autoscaling',
  'Command Line',
  'Cloud Provider Integration',
  'Cluster Lifecycle',
  'Contributor Experience',
  'Documentation and Localization',
  'etcd and Storage of State',
  'Instrumentation and Telemetry',
  'Infrastructure of the Project',
  'Multicluster and Federation',
  'Network and Service Discovery',
  'Node and Container Runtime',
  'Release Engineering',
  'Scalability and Performance',
  'Scheduling and Preemption',
  'Security and Vulnerability Response',
  'Storage and Volume Snapshots',
  'Testing and Continuous Integration',
  'User Interface and Dashboard',
  'Windows Support',
];
const PROCESSES = [
  'Annual Report and Health Check',
  'Code of Conduct Investigation',
  'Election of the Steering Committee',
  'Enhancement Proposal Review',
  'Membership and Org Permissions',
  'Onboarding of New Contributors',
  'Patch Release, Monthly Cadence',
  'Private Disclosure of Vulnerabilities',
  'Release Cycle with Code Freeze',
  'Retirement of Inactive Projects',
  'Triage of Issues and Pull Requests',
];
const WORK = ['Migrate', 'Redesign', 'Deprecate', 'Document', 'Benchmark', 'Automate', 'Stabilise', 'Split up'];
const PRINCIPLES = 12;

/** 35 areas and processes, and below them some 200 projects and principles, with names as long as people give them. */
export function largeOrganization(): OrganizationDocument {
  const main = [...AREAS.map((name) => nodeOf('area', name)), ...PROCESSES.map((name) => nodeOf('process', name))];
  const areas = main.filter(({ type }) => type === 'area');
  const projects = areas.flatMap((area) =>
    WORK.map((verb) => ({ area, node: nodeOf('project', `${verb} what ${area.name} owns`) })),
  );
  const principles = Array.from({ length: PRINCIPLES }, (_, index) =>
    nodeOf('principle', `Principle ${index + 1}: decide in the open and write down why`),
  );
  const processes = main.filter(({ type }) => type === 'process');
  return {
    nodes: [nodeOf('organization', 'Cloud Native Works'), ...main, ...projects.map(({ node }) => node), ...principles],
    edges: [
      ...projects.map(({ area, node }) => belongs(node, area)),
      ...processes.flatMap((process, index) => {
        const area = areas[(index * 2) % areas.length];
        return area ? belongs(process, area) : [];
      }),
    ],
  };
}

function nodeOf(type: NodeOfDocument['type'], name: string): NodeOfDocument {
  const description = `${name}: what it is for, who takes part in it, and where its meetings and notes are found.`;
  return { key: `${type}:${name}`, type, name, description };
}

function belongs(from: NodeOfDocument, to: NodeOfDocument) {
  return { from: from.key, to: to.key, relation: 'belongs_to' };
}
