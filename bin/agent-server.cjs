#!/usr/bin/env -S node --max-semi-space-size=16
'use strict';

require('./check-node.cjs');
void import('../dist/main.js');
