import { fileServiceConformance } from '@workspace-graph/testing';
import { startFiles } from './testing/file.fixture.js';

fileServiceConformance('the records in the database', startFiles);
