export { startBrowser } from './start-browser.js';
