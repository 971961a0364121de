export { type Audience, type News, tell } from "./tell";
