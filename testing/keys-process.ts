import { publicKeys } from "@/server/domain/signing";

/** A process that asks for the public keys, as the first one does after an installation; prints how many there are. */
const { keys } = await publicKeys();
process.stdout.write(String(keys.length));
process.exit(0);
