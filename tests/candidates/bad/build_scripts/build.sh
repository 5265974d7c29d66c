#!/bin/sh
id >/tmp/was-here
