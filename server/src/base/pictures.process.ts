/**
 * The process that decodes pictures (pictures.ts): one at a time, until its parent disconnects.
 *
 * It reads three formats, and only the first frame of each.
 */
import sharp, { type Sharp } from 'sharp';
import type { Answer, Drawing, Task } from './pictures.ts';

const QUALITIES = [90, 60] as const;

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });
sharp.cache(false);
sharp.concurrency(1);

process.on('message', (task: Task) => void answer(task));
process.on('disconnect', () => process.exit(0));
tell({ is: 'ready' });

async function answer({ content, drawing }: Task): Promise<void> {
  try {
    // It comes as a view of bytes and not as a Buffer.
    tell({ is: 'drawn', drawn: await drawn(Buffer.from(content), drawing) });
  } catch {
    // The decoder's own message may quote the file.
    tell({ is: 'rejected' });
  }
}

async function drawn(content: Buffer, drawing: Drawing) {
  const { type, aboutBytes = Number.POSITIVE_INFINITY } = drawing;
  const qualities = type === 'image/png' ? QUALITIES.slice(0, 1) : QUALITIES;
  let smallest: { bytes: Buffer; width: number; height: number } | undefined;
  for (const quality of qualities) {
    const { data, info } = await encoded(decoded(content, drawing), type, quality).toBuffer({
      resolveWithObject: true,
    });
    smallest = { bytes: data, width: info.width, height: info.height };
    if (data.length <= aboutBytes) break;
  }
  if (smallest === undefined) throw new Error('no quality was tried');
  return smallest;
}

/** Upright and in sRGB: what turned it, and its colour profile, are metadata and go. */
function decoded(content: Buffer, { maxPixels, box }: Drawing): Sharp {
  const upright = sharp(content, { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true }).autoOrient();
  const sized = box === undefined ? upright : upright.resize({ ...box, fit: 'inside', withoutEnlargement: true });
  return sized.toColourspace('srgb');
}

function encoded(picture: Sharp, type: Drawing['type'], quality: number): Sharp {
  if (type === 'image/png') return picture.png({ compressionLevel: 9 });
  return type === 'image/jpeg' ? picture.jpeg({ quality }) : picture.webp({ quality });
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
