/** Where customers' files and the erasure list are stored: a folder of the data directory, or a bucket. */
import { type Blobs, openFolder } from '../base/blobs.ts';
import { SettingError } from '../base/env.ts';
import { type ErasureList, openErasureList } from '../base/erasurelist.ts';
import { openS3Blobs, openS3List } from '../base/s3.ts';
import type { Config } from '../config.ts';

/** @param folder the folder to use without a bucket. @throws SettingError when a setting of the bucket is missing */
export function openFiles(
  { filesS3Url, filesS3Bucket, filesS3Region, filesS3Prefix, filesS3AccessKey, filesS3SecretKey }: FilesConfig,
  folder: string,
): { blobs: Blobs; list: ErasureList } {
  if (filesS3Url === undefined) return { blobs: openFolder(folder), list: openErasureList(folder) };
  const needed = {
    FILES_S3_BUCKET: filesS3Bucket,
    FILES_S3_ACCESS_KEY: filesS3AccessKey,
    FILES_S3_SECRET_KEY: filesS3SecretKey,
  };
  for (const [name, value] of Object.entries(needed))
    if (value === undefined) throw new SettingError(`${name} must be set where FILES_S3_URL is`);
  const bucket = {
    ...{ endpoint: filesS3Url, region: filesS3Region, bucket: filesS3Bucket ?? '', prefix: filesS3Prefix },
    ...{ accessKey: filesS3AccessKey ?? '', secretKey: filesS3SecretKey ?? '' },
  };
  return { blobs: openS3Blobs(bucket), list: openS3List(bucket) };
}

type FilesConfig = Pick<
  Config,
  ('filesS3Url' | 'filesS3Bucket' | 'filesS3Region') | ('filesS3Prefix' | 'filesS3AccessKey' | 'filesS3SecretKey')
>;
