/** A mistake in a schema file. `path` is a JSON path (RFC 9535), and `segments` is the same path as a list. */
export type SchemaProblem = {
  readonly file: string;
  readonly path: string;
  readonly segments: readonly PropertyKey[];
  readonly message: string;
};

/** A problem that does not stop the server, with the action taken, such as `left out`. */
export type SchemaWarning = Omit<SchemaProblem, 'segments'> & { readonly action: string };

/** Reports problems of one file, at paths below a base. */
export type ReportProblem = (path: readonly PropertyKey[], message: string) => void;

/** Creates a reporter that collects problems in `problems`. */
export function problemReporter(problems: SchemaProblem[], file: string): ReportProblem {
  return (segments, message) => problems.push(schemaProblem(file, segments, message));
}

/** Returns a problem at a path of a file. The problem also has this path as a JSON path. */
export function schemaProblem(
  file: string,
  segments: readonly PropertyKey[],
  message: string,
): SchemaProblem {
  return { file, path: jsonPath(segments), segments, message };
}

/** Returns a reporter for members below a path. */
export function below(report: ReportProblem, ...base: readonly PropertyKey[]): ReportProblem {
  return (path, message) => report([...base, ...path], message);
}

/** Returns a JSON path such as `$.attributes.tags.components[0]` or `$.attributes['odd name']`. */
function jsonPath(segments: readonly PropertyKey[]): string {
  return `$${segments.map(segmentText).join('')}`;
}

function segmentText(segment: PropertyKey): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const name = String(segment);
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `['${name.replace(/[\\']/g, '\\$&')}']`;
}

/** Returns a line such as `api/tag/content-types/tag/schema.json $.attributes.name.type: …`. */
export function problemLine(problem: Pick<SchemaProblem, 'file' | 'path' | 'message'>): string {
  return `${problem.file} ${problem.path}: ${problem.message}`;
}

/** Returns a line such as `api/tag/content-types/tag/schema.json $.attributes.video: … (left out)`. */
export function warningLine(warning: SchemaWarning): string {
  return `${problemLine(warning)} (${warning.action})`;
}
