import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

/** A YAML file of the checkout, merge keys (`<<`) resolved. */
export function readYaml<Shape>(path: string): Shape {
  return parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true }) as Shape;
}

/** Returns every document of a file; throws for a text that is not YAML. */
export function readYamlDocuments<Shape>(path: string): readonly Shape[] {
  return parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).map((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    return document.toJS() as Shape;
  });
}
