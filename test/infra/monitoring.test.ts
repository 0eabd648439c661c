import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../services/operating/metric-definitions.ts';
import { readSamples } from '../support/metrics-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { ROOT, readYaml } from './read-yaml.ts';

type Panel = {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
};
type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: object;
  readonly annotations: object;
};

const dashboard = JSON.parse(readFileSync(join(ROOT, 'infra/grafana/varve.json'), 'utf8')) as {
  panels: readonly Panel[];
  templating: { list: readonly { name: string; definition?: string }[] };
};
const { groups } = readYaml<{ groups: readonly { rules: readonly Rule[] }[] }>('infra/prometheus/alerts.yml');
const queries: readonly (readonly [string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, i) => [`panel "${title}" ${i}`, expr] as const),
  ),
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const)),
];

/** Metrics that only a process exports which writes documents to Elasticsearch. */
const OF_DOCUMENTS = [
  METRICS.backlog,
  METRICS.backlogOldest,
  METRICS.refusedDocuments,
  METRICS.writtenDocuments,
].map(({ name }): string => name);

/** Returns true for metrics that only a process exports which follows a Strapi. */
const isOfFollower = (name: string) => name.startsWith('varve_follow_');

/** Returns true for metrics that a process exports only with a setting (`--read-index`, `--follow`, `--purge`). */
const isOptional = (name: string) =>
  OF_DOCUMENTS.includes(name) || isOfFollower(name) || name === METRICS.purgesWaiting.name;

/** Returns the names of metrics and labels in a PromQL query. Throws for a text that is not PromQL. */
function readQuery(expr: string): {
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
} {
  // Grafana's interval variable is not PromQL.
  const text = expr.replaceAll('$__rate_interval', '5m');
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${text}`);
      if (type.name === 'Identifier') metrics.push(text.slice(from, to));
      if (type.name === 'LabelName') labels.push(text.slice(from, to));
    },
  });
  return { metrics, labels };
}

let server: RunningServer;
let exported: ReturnType<typeof readSamples>;

beforeAll(async () => {
  server = await startServer();
  const body = JSON.stringify({ data: { key: 'a', name: 'a' } });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${server.url}/api/restaurants`, { method: 'POST', headers, body });
  await fetch(`${server.url}/api/restaurants?populate=tags`);
  // Garbage collection has a metric only after the first collection, which may need many requests.
  for (let round = 0; round < 50; round++) {
    exported = readSamples(await (await fetch(`${server.url}/metrics`)).text());
    if (exported.some(({ name }) => name.startsWith('nodejs_gc'))) break;
    for (let i = 0; i < 50; i++) await (await fetch(`${server.url}/api/restaurants?populate=*`)).text();
  }
});
afterAll(() => server?.dispose());

it('refuses texts that are not queries', () => {
  expect(readQuery('sum by (a) (rate(x_total{b="1"}[$__rate_interval]))')).toEqual({
    metrics: ['x_total'],
    labels: ['a', 'b'],
  });
  expect(() => readQuery('sum by (a) (rate(x_total[5m])')).toThrow(/no PromQL/);
});

it('has queries to check', () => {
  expect(queries.length).toBeGreaterThan(30);
});

describe('dashboard and alerts name only what a server exports', () => {
  it.each(queries)('%s', (_name, expr) => {
    const { metrics, labels } = readQuery(expr);
    const names = new Set(exported.map(({ name }) => name));
    // Prometheus itself makes `up`.
    const wanted = metrics.filter((name) => name !== 'up' && !isOptional(name));
    for (const name of wanted) expect(names, name).toContain(name);
    const known = new Set(
      exported.filter(({ name }) => wanted.includes(name)).flatMap((each) => Object.keys(each.labels)),
    );
    for (const label of labels) expect([...known, 'job', 'instance'], label).toContain(label);
  });
});

it('exports every metric of the table except those of options that the server does not have', () => {
  for (const { name, kind } of Object.values(METRICS)) {
    if (isOptional(name)) continue;
    const sample = kind === 'histogram' ? `${name}_count` : name;
    expect(exported.map((each) => each.name)).toContain(sample);
  }
});

it('shows every metric of the table on the dashboard', () => {
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
  for (const { name } of Object.values(METRICS)) expect(shown).toContain(name);
});

it('has panels that do not overlap', () => {
  const taken = new Set<string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken, `${title} at ${x},${y}`).not.toContain(`${x},${y}`);
        taken.add(`${x},${y}`);
      }
    }
  }
});

it('explains every alert', () => {
  for (const { alert, labels, annotations } of groups.flatMap(({ rules }) => rules)) {
    expect(labels, alert).toMatchObject({ severity: expect.stringMatching(/^(page|ticket)$/) });
    expect(annotations, alert).toMatchObject({
      summary: expect.any(String),
      description: expect.any(String),
    });
  }
});

it('scrapes every process of docker-compose.yml', () => {
  const { scrape_configs } = readYaml<{
    scrape_configs: readonly { static_configs: readonly { targets: readonly string[] }[] }[];
  }>('infra/prometheus/prometheus.yml');
  const targets = scrape_configs.flatMap(({ static_configs }) =>
    static_configs.flatMap((each) => each.targets),
  );
  const { services } = readYaml<{ services: Readonly<Record<string, { build?: unknown }>> }>(
    'docker-compose.yml',
  );
  const processes = Object.entries(services).filter(([, { build }]) => build !== undefined);
  expect([...targets].sort()).toEqual(processes.map(([name]) => `${name}:9464`).sort());
});
