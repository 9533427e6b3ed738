/**
 * The process that decodes pictures (pictures.ts): one at a time, until its parent disconnects.
 *
 * It reads three formats, and only the first frame of each.
 */
import sharp, { type Sharp } from 'sharp';
import type { Answer, Encoded, Encoding, Task } from './pictures.ts';

const QUALITY = 90;
const LOWER_QUALITY = 60;

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp'] });
sharp.cache(false);
sharp.concurrency(1);

process.on('message', (task: Task) => void answer(task));
process.on('disconnect', () => process.exit(0));
tell({ is: 'ready' });

async function answer({ content, encoding }: Task): Promise<void> {
  try {
    // It comes as a view of bytes and not as a Buffer.
    tell({ is: 'encoded', encoded: await reencoded(Buffer.from(content), encoding) });
  } catch {
    // The decoder's own message may quote the file.
    tell({ is: 'rejected' });
  }
}

async function reencoded(content: Buffer, encoding: Encoding): Promise<Encoded> {
  const { type, aboutBytes = Number.POSITIVE_INFINITY } = encoding;
  const at = async (quality: number): Promise<Encoded> => {
    const picture = encoded(decoded(content, encoding), type, quality);
    const { data, info } = await picture.toBuffer({ resolveWithObject: true });
    return { bytes: data, width: info.width, height: info.height };
  };
  const first = await at(QUALITY);
  return first.bytes.length <= aboutBytes || type === 'image/png' ? first : await at(LOWER_QUALITY);
}

/** Upright and in sRGB: what turned it, and its colour profile, are metadata and go. */
function decoded(content: Buffer, { maxPixels, box }: Encoding): Sharp {
  const upright = sharp(content, { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true }).autoOrient();
  const sized = box === undefined ? upright : upright.resize({ ...box, fit: 'inside', withoutEnlargement: true });
  return sized.toColourspace('srgb');
}

function encoded(picture: Sharp, type: Encoding['type'], quality: number): Sharp {
  if (type === 'image/png') return picture.png({ compressionLevel: 9 });
  return type === 'image/jpeg' ? picture.jpeg({ quality }) : picture.webp({ quality });
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
