#!/bin/sh
store-ready -q
