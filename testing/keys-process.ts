import { publicKeys } from "@/server/domain/signing";

/** A process that requests the public keys, like the first one after an installation; prints how many there are. */
const { keys } = await publicKeys();
process.stdout.write(String(keys.length));
process.exit(0);
