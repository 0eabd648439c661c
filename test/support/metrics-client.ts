type Labels = Readonly<Record<string, string>>;

type Line = { readonly name: string; readonly labels: Labels; readonly value: number };

/** Parses the samples of Prometheus' text format, version 0.0.4. */
export function readSamples(text: string): readonly Line[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
    return [{ name, labels: Object.fromEntries(pairs) as Labels, value: Number(value) }];
  });
}

/** Returns the value of the only sample with this name and exactly these labels. */
export function sampleOf(text: string, name: string, labels: Labels = {}): number | undefined {
  const wanted = Object.entries(labels);
  const found = readSamples(text).filter(
    (sample) =>
      sample.name === name &&
      Object.keys(sample.labels).length === wanted.length &&
      wanted.every(([label, value]) => sample.labels[label] === value),
  );
  if (found.length > 1) throw new Error(`${name} is there ${found.length} times`);
  return found[0]?.value;
}
