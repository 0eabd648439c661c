const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Returns a duration such as `500ms`, `90m` or `4w` in milliseconds. The caller has checked its form. */
export function durationMs(text: string): number {
  return Number.parseInt(text, 10) * UNITS[text.replace(/^\d+/, '') as keyof typeof UNITS];
}
