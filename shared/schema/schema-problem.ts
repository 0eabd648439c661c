/** One thing that is wrong with a schema file. `path` is a JSON path (RFC 9535), `segments` the same as a list. */
export type SchemaProblem = {
  readonly file: string;
  readonly path: string;
  readonly segments: readonly PropertyKey[];
  readonly message: string;
};

/** A problem that does not stop the server, with the action taken, such as `left out`. */
export type SchemaWarning = Omit<SchemaProblem, 'segments'> & { readonly action: string };

/** Adds problems of one file, at paths below `base`. */
export type ReportProblem = (path: readonly PropertyKey[], message: string) => void;

/** A reporter that collects into `problems`. */
export function problemReporter(problems: SchemaProblem[], file: string): ReportProblem {
  return (segments, message) => problems.push(schemaProblem(file, segments, message));
}

/** Returns a problem at a path of a file, with the path also as JSON path. */
export function schemaProblem(
  file: string,
  segments: readonly PropertyKey[],
  message: string,
): SchemaProblem {
  return { file, path: jsonPath(segments), segments, message };
}

/** The same reporter for members below a path. */
export function below(report: ReportProblem, ...base: readonly PropertyKey[]): ReportProblem {
  return (path, message) => report([...base, ...path], message);
}

/** `$.attributes.tags.components[0]`, `$.attributes['odd name']`. */
function jsonPath(segments: readonly PropertyKey[]): string {
  return `$${segments.map(segmentText).join('')}`;
}

function segmentText(segment: PropertyKey): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const name = String(segment);
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `['${name.replace(/[\\']/g, '\\$&')}']`;
}

/** `api/tag/content-types/tag/schema.json $.attributes.name.type: …` */
export function problemLine(problem: Pick<SchemaProblem, 'file' | 'path' | 'message'>): string {
  return `${problem.file} ${problem.path}: ${problem.message}`;
}

/** `api/tag/content-types/tag/schema.json $.attributes.video: … (left out)` */
export function warningLine(warning: SchemaWarning): string {
  return `${problemLine(warning)} (${warning.action})`;
}
