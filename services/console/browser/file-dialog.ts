import { useEffect, useState } from 'preact/hooks';
import { messageOf, send } from './api.ts';
import { mayDo } from './content-model.ts';
import { Dialog } from './dialog.ts';
import type { Row } from './entry-request.ts';
import { FileView } from './file-view.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';

const FILES = { uid: 'plugin::upload.file' };
const SHOWN = 24;
/** Beginnings of the media types of Strapi's kinds of files. `files` are all others. */
const KINDS: Readonly<Record<string, string>> = { images: 'image/', videos: 'video/', audios: 'audio/' };

type FileDialogProps = {
  readonly title: string;
  /** Kinds of files that the attribute accepts; all of them if it is empty. */
  readonly kinds: readonly string[];
  readonly choose: (file: Row) => void;
  readonly close: () => void;
};

/** Finds a file that is there, or uploads one. */
export function FileDialog({ title, kinds, choose, close }: FileDialogProps) {
  return html`<${Dialog} title=${title} close=${close}>
    ${mayDo(FILES, 'create') && html`<${Upload} kinds=${kinds} choose=${choose} />`}
    ${mayDo(FILES, 'find') ? html`<${Found} kinds=${kinds} choose=${choose} />` : html`<p class="quiet">You may not list files.</p>`}
  <//>`;
}

type PickProps = Pick<FileDialogProps, 'kinds' | 'choose'>;

function Upload({ kinds, choose }: PickProps) {
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const upload = async (files: FileList | null) => {
    const [file] = files ?? [];
    if (file === undefined) return;
    setSending(true);
    const result = await uploaded(file);
    setSending(false);
    if ('problem' in result) setProblem(result.problem);
    else choose(result.file);
  };
  const accept = kinds.includes('files') ? [] : kinds.flatMap((kind) => KINDS[kind] ?? []);
  return html`<div class="field"><label for="upload">Upload a file</label>
    <input id="upload" type="file" accept=${accept.map((type) => `${type}*`).join(',')} disabled=${isSending}
      onChange=${(event: Event) => void upload((event.target as HTMLInputElement).files)} />
    <p role="status" class="quiet">${isSending ? 'Sending…' : ''}</p>
    ${problem !== '' && html`<p class="bad" role="alert">${problem}</p>`}
    <${HowToSend} request=${{ method: 'POST', path: '/api/upload', files: ['photo.jpg'] }} />
  </div>`;
}

async function uploaded(file: File): Promise<{ readonly file: Row } | { readonly problem: string }> {
  const form = new FormData();
  form.set('files', file);
  try {
    const answer = await send({ method: 'POST', path: '/api/upload', form });
    const [first] = Array.isArray(answer.json) ? (answer.json as readonly Row[]) : [];
    if (first !== undefined) return { file: first };
    return {
      problem: answer.ok ? 'The file is stored and appears soon: search for it below.' : messageOf(answer),
    };
  } catch (error) {
    return { problem: `The server does not answer: ${(error as Error).message}` };
  }
}

function Found({ kinds, choose }: PickProps) {
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly Row[]>();
  const path = filesPath(kinds, text);
  useEffect(() => {
    const gone = new AbortController();
    send({ method: 'GET', path }, gone.signal).then(
      ({ json }) => setFiles(Array.isArray(json) ? (json as readonly Row[]) : []),
      () => {},
    );
    return () => gone.abort();
  }, [path]);
  return html`<div class="field"><label for="files">Find a file</label>
    <input id="files" type="search" value=${text} onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} />
    ${files?.length === 0 && html`<p class="empty">No file matches.</p>`}
    <ul class="found files">${(files ?? []).map(
      (file) =>
        html`<li key=${file['documentId']}><button type="button" class="plain" onClick=${() => choose(file)}><${FileView} file=${file} /></button></li>`,
    )}</ul>
  </div>`;
}

function filesPath(kinds: readonly string[], text: string): string {
  const starts = kinds.flatMap((kind) => KINDS[kind] ?? []);
  const filters = [
    ...(text === '' ? [] : [`filters[name][$containsi]=${encodeURIComponent(text)}`]),
    ...(kinds.includes('files')
      ? []
      : starts.map((start, i) => `filters[$or][${i}][mime][$startsWith]=${encodeURIComponent(start)}`)),
  ];
  return `/api/upload/files?${['sort=createdAt:desc', `pagination[pageSize]=${SHOWN}`, ...filters].join('&')}`;
}
