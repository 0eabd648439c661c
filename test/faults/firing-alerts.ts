import { readYaml } from '../infra/read-yaml.ts';
import { readSamples } from '../support/metrics-client.ts';

type Samples = ReturnType<typeof readSamples>;

const { groups } = readYaml<{
  groups: readonly { rules: readonly { alert: string; expr: string }[] }[];
}>('infra/prometheus/alerts.yml');
const RULES = groups.flatMap(({ rules }) => rules);

/** One series compared with a number. Rules over a range of time have other forms: test/infra/alerts.test.ts fires all rules. */
const COMPARISON = /^(\w+)(?:\{condition=~?"([\w|-]+)"\})? (==|>) ([\d.]+)$/;
const COMPARE = { '==': (a: number, b: number) => a === b, '>': (a: number, b: number) => a > b } as const;

/**
 * Returns the names of the alerts whose expression holds, so that they fire if it lasts. `scrapes`: the metrics of each process; undefined:
 * the process did not answer.
 */
export function firingAlerts(scrapes: readonly (string | undefined)[]): readonly string[] {
  const samples = scrapes.flatMap((text) => (text === undefined ? [] : readSamples(text)));
  const firing = RULES.filter(({ alert, expr }) => {
    if (alert === 'VarveDown') return scrapes.includes(undefined);
    if (alert === 'VarveNoLeader') return valuesOf(samples, 'varve_leading').every((value) => value === 0);
    const [, name = '', conditions, operator = '==', number] = COMPARISON.exec(expr) ?? [];
    const compare = COMPARE[operator as keyof typeof COMPARE];
    return valuesOf(samples, name, conditions).some((value) => compare(value, Number(number)));
  });
  return firing.map(({ alert }) => alert);
}

function valuesOf(samples: Samples, name: string, conditions?: string): readonly number[] {
  const isWanted = ({ labels }: Samples[number]) =>
    conditions === undefined || conditions.split('|').includes(labels['condition'] ?? '');
  return samples.filter((sample) => sample.name === name && isWanted(sample)).map(({ value }) => value);
}
