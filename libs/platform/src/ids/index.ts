export { newId } from './new-id.js';
