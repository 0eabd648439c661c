import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ROOT, readYaml, readYamlDocuments } from './read-yaml.ts';

const FOLDER = 'infra/kubernetes';

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Container = {
  readonly ports: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
};
type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own; the schemas say which.
  readonly spec?: any;
  readonly data?: Readonly<Record<string, string>>;
};

const { resources } = readYaml<{ resources: readonly string[] }>(`${FOLDER}/kustomization.yaml`);
const manifests = resources.flatMap((file) => readYamlDocuments<Manifest>(`${FOLDER}/${file}`));
const named = manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const);
const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');

type Schema = { properties?: object; additionalProperties?: unknown; [key: string]: unknown };
type Schemas = {
  readonly kinds: Readonly<Record<string, string>>;
  readonly $defs: Readonly<Record<string, Schema>>;
};

const schemas = JSON.parse(readFileSync(join(ROOT, 'infra/schemas/kubernetes.json'), 'utf8')) as Schemas;
const ajv = createValidators(schemas);

/** Creates strict validators. Kubernetes drops unknown keys, but here each is an error, since it is probably a typing error. */
function createValidators({ $defs }: Schemas): Ajv2020 {
  const strict = Object.entries($defs).map(([name, schema]) => [
    name,
    schema.properties === undefined ? schema : { additionalProperties: false, ...schema },
  ]);
  const made = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  return made.addSchema({ $id: 'kubernetes', $defs: Object.fromEntries(strict) });
}

/** Returns the errors of a manifest. */
function problemsOf(manifest: Manifest): readonly string[] {
  const name = schemas.kinds[`${manifest.apiVersion} ${manifest.kind}`];
  if (name === undefined) return [`there is no schema for ${manifest.apiVersion} ${manifest.kind}`];
  const validate = ajv.compile({ $ref: `kubernetes#/$defs/${name}` });
  validate(manifest);
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
}

it('lists every file of the folder', () => {
  const files = readdirSync(join(ROOT, FOLDER)).filter((file) => /\.ya?ml$/.test(file));
  expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
});

it.each(named)('%s is valid by the schema of Kubernetes', (_name, manifest) => {
  expect(problemsOf(manifest)).toEqual([]);
});

it.each([
  ['a value of another type', { containerPort: 'http' }],
  ['a key that is not known', { containerPort: 1, hostport: 2 }],
])('is checked with schemas that refuse %s', (_name, port) => {
  const wrong = structuredClone(workloads[0]) as Manifest;
  wrong.spec.template.spec.containers[0].ports[0] = port;
  expect(problemsOf(wrong)).not.toEqual([]);
});

it('has what a fleet needs', () => {
  expect(named.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'StatefulSet varve-project',
      'Deployment varve-api',
      'HorizontalPodAutoscaler varve-api',
      'PodDisruptionBudget varve-project',
      'PodDisruptionBudget varve-api',
      'NetworkPolicy varve-default-deny',
    ]),
  );
});

describe.each(workloads.map((workload) => [workload.metadata.name, workload] as const))(
  '%s',
  (name, workload) => {
    const pod = workload.spec.template.spec;
    const [container] = pod.containers as readonly [Container];
    const labels = workload.spec.template.metadata.labels;

    it('is probed where the server answers', () => {
      expect(container.startupProbe.httpGet).toEqual({ path: '/health/live', port: 'metrics' });
      expect(container.livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'metrics' });
      expect(container.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'metrics' });
      expect(container.ports.map((port) => port.name)).toEqual(['http', 'metrics']);
    });

    it('runs without rights, on a root file system that it cannot write', () => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { requests: expect.any(Object), limits: { memory: expect.any(String) } },
      });
    });

    it('has more time to stop than it needs to wait and drain', () => {
      const { data = {} } = manifests.find(({ kind }) => kind === 'ConfigMap') as Manifest;
      const wait = (container as unknown as { lifecycle: { preStop: { sleep: { seconds: number } } } })
        .lifecycle.preStop.sleep.seconds;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(wait + Number(data['VARVE_DRAIN_SECONDS']));
    });

    it('is selected by its service, its disruption budget and its own selector', () => {
      expect(workload.spec.selector.matchLabels).toEqual(labels);
      for (const kind of ['Service', 'PodDisruptionBudget']) {
        const other = manifests.find((each) => each.kind === kind && each.metadata.name === name);
        expect(other?.spec.selector.matchLabels ?? other?.spec.selector, kind).toEqual(labels);
      }
    });

    it('mounts volumes that it has', () => {
      const templates = (workload.spec.volumeClaimTemplates ?? []) as readonly Manifest[];
      const volumes = [...pod.volumes.map((volume: { name: string }) => volume.name)];
      const known = [...volumes, ...templates.map(({ metadata }) => metadata.name)];
      expect(container.volumeMounts.map((mount) => mount.name).sort()).toEqual(known.sort());
    });
  },
);

it('scales the api processes, which have no state', () => {
  const scaler = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
  expect(scaler?.spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'varve-api' });
  expect(scaler?.spec.minReplicas).toBeGreaterThanOrEqual(2);
  expect(workloads.find(({ kind }) => kind === 'Deployment')?.spec).not.toHaveProperty('replicas');
});
