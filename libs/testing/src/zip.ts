import { crc32, deflateRawSync } from 'node:zlib';

/** One file of an archive, and what is told of it. */
export interface ZipEntry {
  readonly name: string;
  readonly content: string | Buffer;
  /** Size that the archive tells; the real one without it. */
  readonly toldBytes?: number;
  readonly encrypted?: boolean;
  readonly method?: number;
}

/** A zip archive as APPNOTE 6.3.10 describes it, with whatever is told of its entries. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, toldBytes, encrypted = false, method = 8 } of entries) {
    const plain = Buffer.from(content);
    const packed = method === 0 ? plain : deflateRawSync(plain);
    const told = Buffer.alloc(26);
    told.writeUInt16LE(20, 0);
    told.writeUInt16LE((encrypted ? 1 : 0) | 0x800, 2);
    told.writeUInt16LE(method, 4);
    told.writeUInt32LE(crc32(plain), 10);
    told.writeUInt32LE(packed.length, 14);
    told.writeUInt32LE(toldBytes ?? plain.length, 18);
    told.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), told, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), told, rest, Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
