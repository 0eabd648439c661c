import type { ProjectionStatus } from '../../operator/status.ts';

/** Returns an amount such as `74.6 MB`. The units are decimal, like those of disks. */
export function presentBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

const STEPS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
] as const;

/** Returns a duration such as `0.4 s`, `12 s`, `3 min`, `2 h` or `5 d`. */
export function presentSeconds(seconds: number): string {
  const step = STEPS.find((one) => seconds >= 2 * one.seconds);
  if (step !== undefined) return `${Math.round(seconds / step.seconds)} ${step.unit}`;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/** Returns a rate such as `1200 events in 0.6 s, 2000 a second`. `started` is an earlier `performance.now()`. */
export function presentRate(count: number, what: string, started: number): string {
  const seconds = (performance.now() - started) / 1000;
  return `${count} ${what} in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second`;
}

/** Returns the size of a projection's files, or where it is if it has none in the data directory. */
export function presentSize({ kind, bytes }: Pick<ProjectionStatus, 'kind' | 'bytes'>): string {
  if (bytes !== null) return presentBytes(bytes);
  return kind === 'elasticsearch' ? 'in Elasticsearch' : 'in memory';
}
